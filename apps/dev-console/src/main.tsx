import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { z } from 'zod';
import { Console } from './console.tsx';
import './console.css';

// The page's content policy forbids code made at run time.
z.config({ jitless: true });

const root = document.getElementById('console');
if (root === null) throw new Error('the page has no place for the console');
createRoot(root).render(
  <StrictMode>
    <Console />
  </StrictMode>,
);
