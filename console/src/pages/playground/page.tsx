/** The playground: one prompt through three APIs, with requests, answers and costs. */
import { useApi } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { NoModels } from '../../parts/no-models.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import './playground.css';
import { Playground } from './playground.tsx';
import { TEXT } from './text.ts';

export default function PlaygroundPage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const self = useSelf();
  const catalog = useApi('GET /api/models/catalog', undefined, { staleTime: 60_000 });
  return (
    <Page title={names.playground} about={text.about}>
      <Loaded query={catalog} height={360}>
        {(cards) =>
          cards.length === 0 || self === undefined ? <NoModels /> : <Playground cards={cards} owner={self.id} />
        }
      </Loaded>
    </Page>
  );
}
