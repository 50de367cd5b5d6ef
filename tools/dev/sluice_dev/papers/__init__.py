"""scripts/reproduce-coop and scripts/reproduce-er: measurements of the papers' programs, and the pages about them."""
