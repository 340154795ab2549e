/** Pages to print, or to save as PDF: HTML without scripts, an `<article>` for each sheet. */
import { hash } from 'node:crypto';
import { type Answer, answer } from '../../../core/plugin.ts';

/** The languages of such pages. */
export const LANGUAGES = ['en', 'zh'] as const;
export type PageLanguage = (typeof LANGUAGES)[number];

const HINTS: Readonly<Record<PageLanguage, string>> = {
  en: 'Print this page, or save it as PDF, with the print command of the browser.',
  zh: '使用浏览器的打印功能打印此页，或另存为 PDF。',
};

const STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #eee; color: #111; font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
article { box-sizing: border-box; max-width: 48rem; margin: 1rem auto; padding: 2rem; background: #fff; }
h1 { margin: 0 0 1rem; font-size: 1.6rem; }
h2 { margin: 0; font-size: 0.85rem; color: #555; }
p { margin: 0; white-space: pre-line; }
.facts, .sides { display: flex; flex-wrap: wrap; gap: 1rem 2rem; margin: 0 0 1.5rem; }
.sides > section { flex: 1 1 14rem; }
.facts dt { font-size: 0.85rem; color: #555; }
.facts dd { margin: 0; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 0; border-bottom: 1px solid #ccc; text-align: left; font-weight: 400; vertical-align: top; }
th { color: #555; }
td:last-child, th:last-child { padding-left: 1rem; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
table.amounts td, table.amounts th:not(:first-child) { padding-left: 1rem; text-align: right; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
tr.total > * { border-bottom: 0; font-weight: 700; color: #111; }
footer { margin-top: 1.5rem; color: #555; }
.hint { max-width: 48rem; margin: 1rem auto; padding: 0 1rem; color: #444; }
@media (max-width: 30rem) { article { padding: 1rem; } }
@media print {
  @page { margin: 2cm; }
  body { background: #fff; }
  article { max-width: none; margin: 0; padding: 0; break-after: page; }
  article:last-of-type { break-after: auto; }
  .hint { display: none; }
}
`;
const STYLE_HASH = hash('sha256', STYLE, 'base64');

/** The page. `title` is text; `sheets` is HTML. */
export function printPage({
  title,
  language,
  sheets,
}: {
  readonly title: string;
  readonly language: PageLanguage;
  readonly sheets: string;
}): Answer {
  const html = `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>${sheets}</main>
<footer class="hint">${HINTS[language]}</footer>
</body>
</html>
`;
  return answer(200, html, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    'referrer-policy': 'no-referrer',
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text in HTML. */
export function escaped(value: string): string {
  return value.replace(/[&<>"']/g, (each) => ENTITIES[each]!);
}
