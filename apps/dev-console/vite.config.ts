import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env['SERVER_URL'] ?? 'http://127.0.0.1:3000';
const proxied = ['/api', '/blobs', '/docs', '/mcp', '/problems', '/readyz'];

export default defineConfig({
  plugins: [react()],
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, server])) },
});
