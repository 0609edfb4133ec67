"""The catalogue of Python: methods, functions, operators and statements that Dynamo runs while it traces."""
