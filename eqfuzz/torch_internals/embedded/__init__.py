"""Modules that scripts which reproduce a finding contain: they import torch alone."""
