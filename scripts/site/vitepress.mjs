/** The configuration of VitePress: `site.json` next to it, local search, and anchors like those of code hosts. */
import site from './site.json';

/** The anchor of a heading: READMEs link to these. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

export default {
  ...site,
  lang: 'en',
  // The READMEs name the address of a gateway on the reader's machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify } },
  themeConfig: { ...site.themeConfig, search: { provider: 'local' }, outline: 'deep' },
};
