"""Translation of programs of ``torch.export``, in the sandbox: archives, and modules that torch saved."""
