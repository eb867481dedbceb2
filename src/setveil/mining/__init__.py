"""What a data miner finds: frequent itemsets, at the level of the items or at any above."""
