/** One message of a stream of server-sent events. `data` is empty for a message that only moves the id. */
export interface Message {
  id: string | null;
  event: string;
  data: string;
}

/** Parses a stream of server-sent events. Yields null for a comment, which only shows that the connection is alive. */
export async function* readMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Message | null, void> {
  const decoder = new TextDecoder();
  let rest = '';
  let message: Message = { id: null, event: 'message', data: '' };
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*?))?\r?$/.exec(line) ?? [];
      if (line.startsWith(':')) yield null;
      else if (field === 'id') message.id = value;
      else if (field === 'event') message.event = value;
      else if (field === 'data') message.data += message.data === '' ? value : `\n${value}`;
      else if (field === '') {
        yield message;
        message = { id: null, event: 'message', data: '' };
      }
    }
  }
}
