/** Sign-in methods, second factors and sessions. */
import { Alert, Box, Stack } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { sentenceOfCode } from '../../api/refusals.ts';
import { useStatus } from '../../api/status.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { useAddress } from '../../parts/address.ts';
import { Loaded } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { useLanguage } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { AccessToken } from './access-token.tsx';
import { Deletion } from './deletion.tsx';
import { Email } from './email.tsx';
import { Factors } from './factors.tsx';
import { Links } from './links.tsx';
import { Notices } from './notices.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { Sessions } from './sessions.tsx';
import { TEXT } from './text.ts';

export default function Security() {
  const text = useText(TEXT);
  const self = useApi('GET /api/user/self');
  return (
    <Page title={useText(PAGE_NAMES).security} about={text.about}>
      <LinkResult />
      <Loaded query={self} height={400}>
        {(person) => (
          <>
            <Box className="two-columns">
              <Stack gap="md">
                <Factors />
                <Password self={person} />
                <Links self={person} />
                <AccessToken />
              </Stack>
              <Stack gap="md">
                <Profile key={person.username + person.display_name} self={person} />
                <Email self={person} />
                <Notices key={person.setting} self={person} />
              </Stack>
            </Box>
            <Sessions />
            <Deletion self={person} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The result of linking an OAuth account. */
function LinkResult() {
  const text = useText(TEXT);
  const language = useLanguage();
  const [{ connected, error }, change] = useAddress({ connected: '', error: '' });
  const status = useStatus();
  if (connected === '' && error === '') return null;
  // Anyone can write a URL, so only configured providers are named.
  const label = status?.oauth_providers.find(({ name }) => name === connected)?.label;
  if (error === '' && label === undefined) return null;
  return (
    <Alert
      color={error === '' ? 'pine' : 'red'}
      role={error === '' ? 'status' : 'alert'}
      withCloseButton
      closeButtonLabel={text.dismiss}
      onClose={() => change({ connected: '', error: '' }, 'replace')}
    >
      {error === '' ? text.connected(label ?? '') : (sentenceOfCode(error, language) ?? text.connectFailed)}
    </Alert>
  );
}
