"""Model adapters speak each provider's wire format and know its prices; the Advisor and `pipeline`
import them."""
