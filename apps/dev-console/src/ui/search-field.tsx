import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useLayoutEffect, useRef } from 'react';
import { Icon } from './icon.tsx';

interface SearchFieldProps {
  label: string;
  placeholder: string;
  maxLength: number;
  className?: string | undefined;
  /** The text in the URL. */
  keyword: string;
  /** Puts a text into the URL. `replace` continues the text of the current entry of the browser's history. */
  onSearch: (keyword: string, options: { replace: boolean }) => void;
}

/**
 * A search field whose text is in the URL. The URL follows the typing after a pause, so the field keeps its own text, and takes over
 * only a text that was not typed here: of Back, Forward or a link.
 */
export function SearchField({ label, placeholder, maxLength, className, keyword, onSearch }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  /** Typed texts that the URL does not have yet, oldest first. */
  const written = useRef<string[]>([]);
  const isContinued = useRef(false);
  const write = useDebouncedCallback((text: string) => {
    if (text === (written.current.at(-1) ?? keyword)) return;
    written.current.push(text);
    onSearch(text, { replace: isContinued.current });
    isContinued.current = true;
  }, 250);
  /** The next text gets an entry of its own in the browser's history. */
  const finish = () => {
    write.flush();
    isContinued.current = false;
  };

  useLayoutEffect(() => {
    const arrived = written.current.indexOf(keyword);
    if (arrived >= 0) {
      written.current.splice(0, arrived + 1);
      return;
    }
    write.cancel();
    written.current = [];
    isContinued.current = false;
    if (input.current !== null) input.current.value = keyword;
  }, [keyword]);

  return (
    <TextInput
      ref={input}
      className={className}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Icon name="search" />}
      maxLength={maxLength}
      autoComplete="off"
      spellCheck={false}
      onChange={({ target }) => write(target.value.trim())}
      onKeyDown={({ key }) => key === 'Enter' && finish()}
      onBlur={finish}
    />
  );
}
