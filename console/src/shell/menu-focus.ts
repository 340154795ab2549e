/** When a menu item opens a dialog, the focus moves to the button of the menu first, so that it returns there and not to a removed item. */
import { useEffect } from 'react';

/** For all menus of the console. */
export function useMenuFocus(): void {
  useEffect(() => {
    const look = ({ target }: MouseEvent): void => {
      const menu = target instanceof Element ? target.closest('[role^="menuitem"]')?.closest('[role="menu"]') : null;
      document.getElementById(menu?.getAttribute('aria-labelledby') ?? '')?.focus();
    };
    // Before the item's handler, because dialogs store the focused element when they open.
    document.addEventListener('click', look, true);
    return () => document.removeEventListener('click', look, true);
  }, []);
}
