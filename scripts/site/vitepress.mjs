/** The configuration of VitePress: what `site.json` beside it says, local search, and anchors as code hosts make them. */
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
