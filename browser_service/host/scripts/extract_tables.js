// Returns tables as rows of texts. A cell that spans several rows or columns is repeated in each. If a grid numbers its
// rows and cells, they are in the order of these numbers, and parts of the same row are joined.
import {cellText, line, textOf, shown, within, IS_TABLE} from "./document_parts.js";
import {ofEach} from "./of_each.js";
import {asSeen} from "./seen.js";
import {seenText} from "./seen_text.js";

// A grid may lay out its rows by tables that say they are none.
const HAS_ROWS = IS_TABLE.replace('table,', 'table:not([role=presentation], [role=none]),');
const CELL = '[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]';
const placed = (found, mark) => {
  const at = e => +e.getAttribute(mark);
  return found.every(at) ? found.sort((one, other) => at(one) - at(other)) : found;
};
// Returns cells without the empty ones below those that a grid draws over them.
const joined = found => {
  const byPlace = new Map();
  for (const cell of found) {
    const at = cell.getAttribute('aria-colindex') ?? cell;
    if (!byPlace.has(at) || !seenText(byPlace.get(at)).trim()) byPlace.set(at, cell);
  }
  return [...byPlace.values()];
};

const one = (e, {headers, lists}) => {
  const parts = new Map();
  const own = e.rows ? [...e.rows] : placed([...e.querySelectorAll('[role=row]')]
    .filter(row => row.parentElement.closest(HAS_ROWS) === e), 'aria-rowindex');
  for (const row of own) {
    const place = e.rows ? row : row.getAttribute('aria-rowindex') || row;
    parts.set(place, [...parts.get(place) || [], row]);
  }
  const partsOf = new Map([...parts.values()].map(each => [each.find(shown) ?? each[0], each])), rows = [...partsOf.keys()];
  const cells = row => e.rows ? [...row.cells]
    : joined(placed(partsOf.get(row).flatMap(part => [...part.cells ?? part.querySelectorAll(CELL)]), 'aria-colindex'));
  const span = (cell, way) =>
    Math.max(1, cell[`${way}Span`] ?? +(cell.getAttribute(`aria-${way}span`) || 1)) || 1;
  const isHeader = cell => cell.matches('th, [role=columnheader]');
  const selectsAll = cell => isHeader(cell) && cell.querySelector('[type=checkbox]') && !seenText(cell).trim();
  const whole = shown(e);
  const seen = rows.filter(row => !whole || shown(row));
  const grid = seen.map(() => []);
  seen.forEach((row, y) => {
    let x = 0;
    for (const cell of cells(row)) {
      while (grid[y][x] !== undefined) x++;
      const text = selectsAll(cell) ? '' : line(cellText(cell)), wide = Math.min(span(cell, 'col'), 1000);
      const high = cell.rowSpan === 0 ? seen.length : span(cell, 'row');
      for (let down = y; down < Math.min(y + high, seen.length); down++) {
        if (row.parentElement !== seen[down].parentElement) break;
        for (let across = x; across < x + wide; across++) grid[down][across] ??= text;
      }
      x += wide;
    }
  });
  let head = 0;
  const inHead = row => row.parentElement.matches('thead') ||
    (cells(row).length > 0 && cells(row).every(isHeader) && cells(row).length > (head ? 1 : 0));
  while (head < seen.length && inHead(seen[head])) head++;
  const width = Math.max(0, ...grid.map(row => row.length));
  const names = [], taken = new Set();
  for (let x = 0; x < width; x++) {
    const own = [...new Set(grid.slice(0, head).map(row => row[x]).filter(Boolean))].join(' / ');
    const wanted = headers?.[x] || (headers ? '' : own) || `column${x + 1}`;
    let name = wanted;
    for (let n = 2; taken.has(name); n++) name = `${wanted} (${n})`;
    taken.add(name);
    names.push(name);
  }
  const full = grid.slice(head).filter(row => row.length).map(row => names.map((_, x) => row[x] ?? ''));
  const caption = line(e.caption && textOf(e.caption)) || e.getAttribute('aria-label') || '';
  return {
    ...(caption && {caption}),
    headers: names,
    rows: lists ? full : full.map(row => Object.fromEntries(row.map((text, x) => [names[x], text]))),
    ...(rows.length > seen.length && {hiddenRows: rows.length - seen.length}),
    ...(e.getAttribute('aria-rowcount') > rows.length && {rowsInAll: +e.getAttribute('aria-rowcount')}),
  };
};

export default asSeen(ofEach(one, e => e.matches(IS_TABLE) ? [e]
  : within(e, IS_TABLE).filter(each => each.matches(HAS_ROWS) || !each.closest(HAS_ROWS))));
