"""Making a finding smaller while it stays the same finding."""
