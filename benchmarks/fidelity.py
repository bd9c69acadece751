"""Do our clock, torch.utils.benchmark and pyperf agree on the same function with the same threads?"""
