import { Button, Text } from '@mantine/core';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import { Icon } from '../../ui/icon.tsx';
import type { Desk } from '../desk.tsx';
import classes from './drawing.module.css';
import { COLORS, TOOLS, WIDTHS } from './tools.ts';

interface ChoiceProps {
  label: string;
  isChosen?: boolean;
  disabled?: boolean;
  onChoose: () => void;
  children: ReactNode;
}

const Choice = ({ label, isChosen, disabled = false, onChoose, children }: ChoiceProps) => (
  <button
    type="button"
    className={classes.choice}
    aria-label={label}
    title={label}
    aria-pressed={isChosen}
    disabled={disabled}
    onClick={onChoose}
  >
    {children}
  </button>
);

/** Tools, colours, widths and undo, while something is drawn. */
export function DrawingBar({ desk }: { desk: Desk }) {
  const { tool, setTool, ink, setInk, marks, setMarks, undone, undo, redo } = desk;
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isTyping = event.target instanceof Element && event.target.matches('input:not([type=range]), textarea');
    if (isTyping) return;
    if (event.key === 'Escape') setTool(null);
    if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.shiftKey) redo();
    else undo();
  });
  useEffect(() => {
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <div className={classes.bar} role="toolbar" aria-label="Drawing">
      {tool === 'PIN' ? (
        <Text size="sm">Click on the model to set a pin.</Text>
      ) : (
        <span className={classes.group}>
          {TOOLS.map((each) => (
            <Choice
              key={each.tool}
              label={each.label}
              isChosen={each.tool === tool}
              onChoose={() => setTool(each.tool)}
            >
              <Icon name={each.icon} size={16} />
            </Choice>
          ))}
        </span>
      )}
      <span className={classes.group}>
        {COLORS.map(({ label, value }) => (
          <Choice
            key={value}
            label={label}
            isChosen={ink.color === value}
            onChoose={() => setInk({ ...ink, color: value })}
          >
            <span className={classes.color} style={{ background: value }} />
          </Choice>
        ))}
      </span>
      {tool !== 'PIN' && (
        <span className={classes.group}>
          {WIDTHS.map(({ label, value }) => (
            <Choice
              key={value}
              label={label}
              isChosen={ink.strokeWidth === value}
              onChoose={() => setInk({ ...ink, strokeWidth: value })}
            >
              <span className={classes.width} style={{ height: `${value * 500}px` }} />
            </Choice>
          ))}
        </span>
      )}
      <Choice label="Undo" disabled={marks.shapes.length === 0} onChoose={undo}>
        <Icon name="undo" size={16} />
      </Choice>
      <Choice label="Redo" disabled={undone.length === 0} onChoose={redo}>
        <Icon name="redo" size={16} />
      </Choice>
      <span className={classes.spring} />
      {marks.shapes.length > 0 && (
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          onClick={() => setMarks((before) => ({ ...before, shapes: [] }))}
        >
          Clear
        </Button>
      )}
      <Button size="compact-sm" variant="default" onClick={() => setTool(null)}>
        Done
      </Button>
    </div>
  );
}
