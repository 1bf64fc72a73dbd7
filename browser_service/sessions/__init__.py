"""Makes, keeps and ends sessions, and knows who may use each."""
