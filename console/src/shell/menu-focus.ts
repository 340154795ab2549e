/** Where the focus goes when a menu opens a dialog: to the button of the menu, so that it comes back there, and not to an entry that is gone by then. */
import { useEffect } from 'react';

/** For all menus of the console. */
export function useMenuFocus(): void {
  useEffect(() => {
    const look = ({ target }: MouseEvent): void => {
      const menu = target instanceof Element ? target.closest('[role^="menuitem"]')?.closest('[role="menu"]') : null;
      document.getElementById(menu?.getAttribute('aria-labelledby') ?? '')?.focus();
    };
    // Before the entry does what it does: dialogs remember what had the focus when they opened.
    document.addEventListener('click', look, true);
    return () => document.removeEventListener('click', look, true);
  }, []);
}
