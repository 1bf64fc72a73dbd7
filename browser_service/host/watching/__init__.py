"""What people see of pages, and do to them by hand."""
