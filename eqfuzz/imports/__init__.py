"""Models of other tools as seeds. Only ``onnx/`` imports the package onnx: it runs in the sandbox."""
