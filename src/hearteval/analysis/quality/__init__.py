"""How carefully people answer: their checks, repeats and triads; and rules over them."""
