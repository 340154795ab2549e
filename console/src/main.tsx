/** Entry point of the console. */
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './styles.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

keepEscapeOnTop();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);

/** Escape closes only the topmost dialog; each dialog listens itself, so otherwise all would close. Call it before any dialog is opened. */
function keepEscapeOnTop(): void {
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      // A list or a menu in a dialog closes first, by itself.
      if (event.target instanceof Element && event.target.getAttribute('data-mantine-stop-propagation') === 'true')
        return;
      const open = [...document.querySelectorAll('[role="dialog"][aria-modal="true"]')];
      if (open.length < 2) return;
      event.stopImmediatePropagation();
      const top = open.find((each) => each.contains(document.activeElement)) ?? open.at(-1);
      // Dialogs that Escape must not close have no close button.
      top?.querySelector<HTMLElement>('.mantine-Modal-close, .mantine-Drawer-close')?.click();
    },
    true,
  );
}
