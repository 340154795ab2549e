/** Every page with ten thousand keys, people, orders, codes, calls and entries to show, in every look. */
import { visitEveryPage } from '../kit/console/pages.ts';

visitEveryPage('many');
