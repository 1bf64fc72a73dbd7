// Returns a document's metadata: title, description, Open Graph, JSON-LD, alternates, icons.
import {cut} from "./cut.js";
import {line} from "./document_parts.js";

export default () => {
  const said = {}, openGraph = {}, twitter = {}, jsonLd = [], jsonLdBroken = [];
  const add = (into, key, value) => { into[key] = key in into ? [into[key], value].flat() : value };
  for (const meta of document.querySelectorAll('meta[content]')) {
    const key = (meta.getAttribute('property') || meta.name || '').toLowerCase(), value = meta.content;
    if (key.startsWith('og:')) add(openGraph, key.slice(3), value);
    else if (key.startsWith('twitter:')) add(twitter, key.slice(8), value);
    else if (key) add(said, key, value);
  }
  for (const script of document.querySelectorAll('script[type="application/ld+json" i]')) {
    try {
      jsonLd.push(JSON.parse(script.textContent));
    } catch {
      jsonLdBroken.push(cut(script.textContent.trim(), 200));
    }
  }
  const links = rel => [...document.querySelectorAll(`link[rel~="${rel}" i][href]`)];
  const {description, keywords, ...meta} = said;
  const facts = {
    title: document.title, url: location.href, lang: document.documentElement.lang,
    description: [description].flat()[0], canonical: links('canonical')[0]?.href,
    keywords: [keywords].flat().join(',').split(',').map(line).filter(Boolean),
    openGraph, twitter, jsonLd, jsonLdBroken, meta,
    alternates: links('alternate').map(l => (
      {url: l.href, ...(l.hreflang && {lang: l.hreflang}), ...(l.type && {type: l.type})}
    )),
    icons: links('icon').map(l => l.href),
  };
  const empty = value => !value || (typeof value === 'object' && !Object.keys(value).length);
  return Object.fromEntries(Object.entries(facts).filter(([_, value]) => !empty(value)));
};
