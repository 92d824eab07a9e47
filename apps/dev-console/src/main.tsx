import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './content-policy.ts';
import './console.css';
import { Console } from './console.tsx';

const root = document.getElementById('console');
if (root === null) throw new Error('the page has no place for the console');
createRoot(root).render(
  <StrictMode>
    <Console />
  </StrictMode>,
);
