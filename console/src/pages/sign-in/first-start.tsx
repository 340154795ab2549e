/** Where to find the first password, for users on the machine of the gateway. */
import { Box, Text } from '@mantine/core';
import { Snippet } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

const HERE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const NEW_PASSWORD = "echo 'a long passphrase' | npm run -s turnpike -- user password root --password-stdin";

/** Renders nothing for all others, because they have no access to its terminal. */
export function FirstStart() {
  const text = useText(TEXT).firstStart;
  if (!HERE.test(location.hostname)) return null;
  return (
    <Box component="details" className="first-start">
      <Text component="summary" size="sm" c="dimmed">
        {text.title}
      </Text>
      <Text size="sm" c="dimmed" my="xs">
        {text.about}
      </Text>
      <Snippet code={NEW_PASSWORD} label={text.title} />
    </Box>
  );
}
