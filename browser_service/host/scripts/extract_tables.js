// Returns tables as rows of texts. A cell that spans several rows or columns is repeated in each.
import {line, textOf, shown, within, IS_TABLE} from "./document_parts.js";
import {ofEach} from "./of_each.js";
import {inMode} from "./seen.js";

const one = (e, {headers, lists}) => {
  const ROW = ':scope > [role=row], :scope > [role=rowgroup] > [role=row]';
  const CELL = '[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]';
  const rows = e.rows ? [...e.rows] : [...e.querySelectorAll(ROW)];
  const cells = row => row.cells ? [...row.cells] : [...row.querySelectorAll(CELL)];
  const span = (cell, way) =>
    Math.max(1, cell[`${way}Span`] ?? +(cell.getAttribute(`aria-${way}span`) || 1)) || 1;
  const isHeader = cell => cell.matches('th, [role=columnheader]');
  const whole = shown(e);
  const seen = rows.filter(row => !whole || shown(row));
  const grid = seen.map(() => []);
  seen.forEach((row, y) => {
    let x = 0;
    for (const cell of cells(row)) {
      while (grid[y][x] !== undefined) x++;
      const text = line(textOf(cell)), wide = Math.min(span(cell, 'col'), 1000);
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
  };
};

export default inMode(ofEach(one, e => e.matches(IS_TABLE) ? [e] : within(e, IS_TABLE)));
