/** A word that something was done. */
import { notifications } from '@mantine/notifications';

/** Says it in a corner, and aloud. */
export function sayDone(message: string): void {
  notifications.show({ color: 'pine', message, role: 'status' });
}
