/** Notifications that an action succeeded. */
import { notifications } from '@mantine/notifications';

/** Shows a notification and announces it to screen readers. */
export function notifyDone(message: string): void {
  notifications.show({ color: 'pine', message, role: 'status' });
}
