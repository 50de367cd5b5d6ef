"""scripts/reproduce-coop, reproduce-er and reproduce-rd: figures of the papers, and the pages about them."""
