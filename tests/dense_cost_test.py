"""Replays committed measurements of all candidates: the cheapest by predict_us() must be near the fastest."""
