"""What is told while a fit runs, and after it."""
