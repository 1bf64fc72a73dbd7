"""Declares a shop's page as shops have it: structured data, navigation, product cards, a table of sizes and a frame."""

SHOP = """<!doctype html><html lang=en><head><meta charset=utf-8><title>Green teas · Leaf &amp; Co</title>
<meta name=description content="Forty green teas, fresh from the gardens">
<meta name=keywords content="tea, green tea, sencha">
<link rel=canonical href=/teas/green><meta property=og:title content="Green teas">
<meta property=og:image content=/og.png>
<script type=application/ld+json>{"@context": "https://schema.org", "@type": "ItemList", "numberOfItems": 2}</script>
<style>.sale { color: rgb(200, 0, 0); font-weight: 700 } .card { float: left; width: 200px }</style></head><body>
<header><a href=/ aria-label=Home><img src=/logo.svg alt="Leaf &amp; Co" width=40 height=40></a>
<nav><a href=/teas>Teas</a> <a href=/pots>Pots</a>
<a href="https://leaf.example/blog" rel=noopener>Blog</a></nav></header>
<main><h1>Green teas</h1><p class=count>2 of 40 teas</p>
<article class=card data-sku=S-100 data-stock=12><h2><a href=/p/sencha>Sencha <small>Japan</small></a></h2>
<img src=/sencha.svg alt="Sencha leaves" width=120 height=80><p class="price sale">€ 1.234,50 <s>€ 1.500,00</s></p>
<ul class=tags><li>fresh<li>organic</ul><button>Add to cart</button></article>
<article class=card data-sku=M-200 data-stock=0><h2><a href=/p/matcha>Matcha <small>Japan</small></a></h2>
<img src=/matcha.svg alt="Matcha powder" width=120 height=80><p class=price>€ 49</p>
<ul class=tags></ul><button disabled>Sold out</button></article>
<table id=sizes><caption>Sizes</caption><thead><tr><th rowspan=2>Tea<th colspan=2>Price<tr><th>50 g<th>100 g</thead>
<tbody><tr><th scope=row>Sencha<td>12 €<td>22 €<tr><th scope=row>Matcha<td colspan=2>49 €</tbody></table></main>
<footer><a href="mailto:tea@leaf.example">Write to us</a></footer></body></html>"""
"""Sencha is on sale; Matcha is sold out."""
