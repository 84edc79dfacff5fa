"""Results printed in the source documents, and computed results beside them."""
