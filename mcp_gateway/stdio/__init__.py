"""The stdio wire connects the host that started this process to a `Connection`.

A wire feeds `Connection.serve` with requests and sends its replies on. Another wire is a module beside this package.
"""
