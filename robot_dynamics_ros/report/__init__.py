"""What people see: tables, plots, and files that appear whole or not at all."""
