"""Page rules tell addresses, states, notices and changes of pages apart; any actor imports them."""
