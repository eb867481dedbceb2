"""The made-up shop of the demo: departments, categories, products, and what is bought together."""

from __future__ import annotations

ROOT = "groceries"

SHELVES: dict[str, dict[str, str]] = {
    "fruit and vegetables": {
        "fresh fruit": "bananas, apples, pears, oranges, lemons, grapes, kiwis, mangoes",
        "berries": "strawberries, blueberries, raspberries",
        "salad vegetables": "tomatoes, cucumbers, lettuce, radishes, rocket, peppers",
        "roots and bulbs": "potatoes, onions, carrots, garlic, beetroot, celeriac",
        "cooking vegetables": "courgettes, broccoli, spinach, mushrooms, aubergines, leeks",
        "fresh herbs": "basil, parsley, coriander, mint",
    },
    "bakery": {
        "bread": "white bread, rye bread, baguette, pita bread, wholemeal bread",
        "breakfast bakes": "croissants, bagels, bread rolls, brioche",
        "cakes": "apple pie, muffins, cheesecake, doughnuts",
    },
    "dairy": {
        "milk": "whole milk, skimmed milk, lactose-free milk, buttermilk",
        "yoghurt": "plain yoghurt, fruit yoghurt, Greek yoghurt, skyr",
        "cheese": "cheddar, parmesan, mozzarella, feta, brie, cottage cheese, goat cheese",
        "butter and cream": "salted butter, margarine, cooking cream, sour cream",
        "eggs": "free-range eggs, organic eggs",
    },
    "meat and fish": {
        "poultry": "chicken breast, chicken wings, turkey slices, duck legs",
        "red meat": "minced beef, beef steak, pork chops, lamb shoulder",
        "cold cuts": "cooked ham, salami, bacon, liver pate, chorizo",
        "fish and seafood": "salmon fillet, cod fillet, prawns, mussels, smoked trout",
    },
    "pantry": {
        "pasta and rice": "spaghetti, penne, lasagne sheets, basmati rice, risotto rice, couscous",
        "sauces": "tomato sauce, pesto, ketchup, mustard, soy sauce, mayonnaise",
        "tins": "chickpeas, kidney beans, tinned tomatoes, sweetcorn, tuna in oil, coconut milk",
        "baking": "flour, sugar, baking powder, vanilla sugar, yeast, cocoa",
        "oils and vinegars": "olive oil, sunflower oil, balsamic vinegar, cider vinegar",
        "spices": "salt, black pepper, curry powder, cinnamon, saffron",
    },
    "breakfast": {
        "cereals": "muesli, cornflakes, rolled oats, granola",
        "spreads": "honey, strawberry jam, peanut butter, hazelnut spread, marmalade",
    },
    "sweets and snacks": {
        "chocolate": "dark chocolate, milk chocolate, pralines",
        "biscuits": "shortbread, oat biscuits, wafers, gingerbread",
        "crisps and nuts": "potato crisps, tortilla chips, salted peanuts, cashews, popcorn",
        "candy": "wine gums, liquorice, peppermints",
    },
    "frozen": {
        "frozen meals": "frozen pizza, fish fingers, vegetable lasagne",
        "frozen vegetables": "frozen peas, frozen spinach, oven chips",
        "ice cream": "vanilla ice cream, lemon sorbet, ice lollies",
    },
    "drinks": {
        "water and soft drinks": "still water, sparkling water, cola, lemonade, iced tea",
        "juice": "orange juice, apple juice, tomato juice",
        "hot drinks": "ground coffee, instant coffee, black tea, herbal tea",
        "beer and cider": "lager, wheat beer, alcohol-free beer, dry cider",
        "wine and spirits": "red wine, white wine, prosecco, gin, whisky",
    },
    "household": {
        "cleaning": "dish soap, laundry detergent, glass cleaner, sponges",
        "paper and foil": "toilet paper, kitchen roll, baking paper, bin bags",
        "around the house": "candles, batteries, light bulbs",
    },
    "care and health": {
        "body care": "shampoo, shower gel, hand cream, razor blades",
        "teeth": "toothpaste, toothbrushes, dental floss",
        "pharmacy": "plasters, headache tablets, nicotine gum, pregnancy test",
    },
    "baby and pets": {
        "baby": "nappies, baby wipes, carrot puree",
        "pets": "cat food, dog food, bird seed, cat litter",
    },
}

BEST_SELLERS = (
    "whole milk, bananas, bread rolls, tomatoes, free-range eggs, still water, salted butter, "
    "white bread, apples, onions, plain yoghurt, cucumbers, potatoes, cheddar, ground coffee, "
    "cooked ham, toilet paper, chicken breast, carrots, cola, spaghetti, orange juice, lager, "
    "potato crisps, lettuce, sparkling water, fruit yoghurt, minced beef, milk chocolate, peppers"
)
"""From the most bought on; all other products follow in a seeded order."""

RARE = (
    "saffron, celeriac, duck legs, pregnancy test, nicotine gum, whisky, bird seed, tomato juice, "
    "light bulbs, smoked trout, cider vinegar, marmalade, goat cheese, dental floss, carrot puree"
)
"""Bought a handful of times in ten thousand baskets."""

BUNDLES = (
    (30, "spaghetti, tomato sauce, parmesan"),
    (14, "penne, pesto, parmesan"),
    (22, "white bread, salted butter, strawberry jam"),
    (20, "muesli, whole milk, plain yoghurt"),
    (18, "bread rolls, cooked ham, cheddar"),
    (16, "flour, sugar, free-range eggs, baking powder"),
    (16, "lager, potato crisps, salted peanuts"),
    (14, "tomatoes, mozzarella, basil"),
    (14, "minced beef, kidney beans, tinned tomatoes, onions"),
    (12, "lettuce, cucumbers, feta, olive oil"),
    (12, "croissants, orange juice, ground coffee"),
    (10, "tortilla chips, sour cream, peppers"),
    (10, "basmati rice, coconut milk, curry powder, chicken breast"),
    (9, "frozen pizza, cola"),
    (8, "nappies, baby wipes"),
    (8, "cat food, cat litter"),
    (7, "red wine, brie, baguette, grapes"),
    (6, "shampoo, shower gel, toothpaste"),
    (5, "risotto rice, mushrooms, white wine, parmesan"),
    (5, "salmon fillet, lemons, potatoes"),
    (4, "chickpeas, pita bread, feta, mint"),
)
"""What goes together, and how often compared with the other bundles."""


def words(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [word.strip() for word in text.split(",")]


def product_paths() -> list[tuple[str, str, str, str]]:
    """Return (product, category, department, root) of every product, in the order of the shelves."""
    return [
        (product, category, department, ROOT)
        for department, shelves in SHELVES.items()
        for category, products in shelves.items()
        for product in words(products)
    ]
