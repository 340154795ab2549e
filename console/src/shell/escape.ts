/** Escape closes the dialog that is on top, and not with it those below: components listen each for themselves, and would all close. */

/** Begins to listen, before any dialog does. */
export function keepEscapeOnTop(): void {
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      // A list or a menu inside a dialog closes first, by itself.
      if (event.target instanceof Element && event.target.getAttribute('data-mantine-stop-propagation') === 'true')
        return;
      const open = [...document.querySelectorAll('[role="dialog"][aria-modal="true"]')];
      if (open.length < 2) return;
      event.stopImmediatePropagation();
      const top = open.find((each) => each.contains(document.activeElement)) ?? open.at(-1);
      // What must not be closed by the way has no such button.
      top?.querySelector<HTMLElement>('.mantine-Modal-close, .mantine-Drawer-close')?.click();
    },
    true,
  );
}
