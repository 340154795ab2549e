/** Entry point of the console. */
import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './styles.css';
import { App } from './app.tsx';
import { keepEscapeOnTop } from './shell/escape.ts';

keepEscapeOnTop();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
