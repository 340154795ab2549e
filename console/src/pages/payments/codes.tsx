/** Redemption codes: search, create, disable, delete. Codes are worth money, so full codes require a second factor. */
import { Button, Group, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { call } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi } from '../../api/hooks.ts';
import { IconEye, IconEyeOff, IconPlus } from '../../icons.ts';
import { pageOf } from '../../parts/address.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { anyOr, FilterSelect } from '../../parts/filter-select.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useFormat } from '../../shell/format.ts';
import { CodeForm } from './code-form.tsx';
import { CODE_STATES, type Code, CodeTable, isCutOff } from './code-table.tsx';
import { type Filtered, PAGE_SIZE } from './filters.ts';
import { useText } from './text.ts';

/** The list. */
export function Codes({ address, onChange }: Filtered) {
  const { codes: text, deleting: deletingText, words } = useText();
  const format = useFormat();
  const state = CODE_STATES.find((each) => each === address.state);
  const page = pageOf(address.page);
  const search = { p: page, page_size: PAGE_SIZE, keyword: address.q, state };
  const codes = useApi('GET /api/redemption/search', { search }, KEEPS_DATA);
  const deleting = useDialog<Code>();
  const cleaning = useDialog<true>();
  const changes = ['GET /api/redemption/search'] as const;
  const reveal = useAction(() => call('GET /api/redemption/search', { search: { ...search, whole: '1' } }), {
    changes,
  });
  const enable = useAction(
    ({ id, enabled }: { readonly id: number; readonly enabled: boolean }) =>
      call('PUT /api/redemption/', { search: { status_only: '1' }, body: { id, status: enabled ? 1 : 2 } }),
    {
      changes,
      done: (_, { enabled }) => notifications.show({ message: enabled ? text.enabled : text.disabled }),
    },
  );
  const remove = useAction(({ id }: Code) => call('DELETE /api/redemption/{id}', { params: { id } }), {
    changes,
    done() {
      notifications.show({ message: text.deleted });
      deleting.close();
    },
  });
  const clean = useAction(() => call('DELETE /api/redemption/invalid'), {
    changes,
    done(count) {
      notifications.show({ message: text.removed(count) });
      cleaning.close();
    },
  });
  const filter = (change: Parameters<typeof onChange>[0]): void => onChange({ page: '1', ...change });
  const rows = codes.data?.items;
  const isCut = rows?.some(isCutOff) ?? false;
  const filtered = address.q !== '' || address.state !== '';
  return (
    <>
      <Section
        flush
        title={text.title}
        actions={
          <>
            <SearchField label={text.search} value={address.q} onSearch={(q) => filter({ q })} />
            <FilterSelect
              label={words.state}
              data={anyOr(words.anyState, CODE_STATES, (each) => text.states[each])}
              value={state ?? ''}
              onChange={(chosen) => filter({ state: chosen })}
            />
            <PlainButton onClick={() => cleaning.open(true)}>{text.removeDead}</PlainButton>
            <Button leftSection={<IconPlus size={16} />} onClick={() => onChange({ open: 'new' })}>
              {words.createCodes}
            </Button>
          </>
        }
      >
        {isCut && (
          <Group gap="sm" px="sm" py={6}>
            <IconEyeOff size={16} aria-hidden />
            <Text size="sm">{text.cut}</Text>
            <Tooltip label={text.wholeAbout}>
              <PlainButton
                size="compact-xs"
                leftSection={<IconEye size={14} />}
                loading={reveal.isPending}
                onClick={() => reveal.mutate()}
              >
                {text.whole}
              </PlainButton>
            </Tooltip>
          </Group>
        )}
        <CodeTable
          query={codes}
          page={page}
          pageSize={PAGE_SIZE}
          onPage={(to) => onChange({ page: `${to}` })}
          onEnable={(id, enabled) => enable.mutate({ id, enabled })}
          onDelete={deleting.open}
          empty={
            filtered ? (
              <Empty
                title={text.none}
                action={<PlainButton onClick={() => filter({ q: '', state: '' })}>{text.all}</PlainButton>}
              >
                {text.noneAbout}
              </Empty>
            ) : (
              <Empty
                title={text.empty}
                action={<PlainButton onClick={() => onChange({ open: 'new' })}>{words.createCodes}</PlainButton>}
              >
                {text.emptyAbout}
              </Empty>
            )
          }
        />
      </Section>
      <CodeForm opened={address.open === 'new'} onClose={() => onChange({ open: '' })} />
      <Confirm
        dialog={deleting}
        title={deletingText.title}
        action={deletingText.action}
        doing={remove}
        onConfirm={remove.mutate}
      >
        {deleting.about?.status === 3
          ? deletingText.usedAbout(deleting.about.name)
          : deletingText.about(deleting.about?.name ?? '', format.money(deleting.about?.quota ?? 0))}
      </Confirm>
      <Confirm
        dialog={cleaning}
        title={deletingText.deadTitle}
        action={deletingText.deadAction}
        doing={clean}
        onConfirm={() => clean.mutate()}
      >
        {deletingText.deadAbout}
      </Confirm>
    </>
  );
}
