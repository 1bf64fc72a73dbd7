"""What handlers share: how fields and forms are filled, elements are dragged, and documents awaited."""
