import { Progress, Table, Text, Title } from '@mantine/core';
import { useRateUses } from '../connection/rate-limits.ts';
import { useNow } from '../ui/time.tsx';
import classes from './page.module.css';

/** The usage of each rate limit, read from the response headers that this tab has received. */
export function RateTable() {
  const uses = useRateUses();
  const now = useNow(1000);
  return (
    <section>
      <Title order={2} mb="xs">
        Rate limits
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Each operation has a window of a minute per key. These are the operations this tab has called.
      </Text>
      {uses.length === 0 ? (
        <Text size="sm">No response contained a rate limit: this server has them turned off.</Text>
      ) : (
        <div className={classes.table}>
          <Table verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Operation</Table.Th>
                <Table.Th>Tier</Table.Th>
                <Table.Th>Used</Table.Th>
                <Table.Th>Window ends</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {uses.map(({ operation, tier, limit, remaining, resetsAt }) => {
                const over = resetsAt <= now;
                const used = over ? 0 : limit - remaining;
                return (
                  <Table.Tr key={operation}>
                    <Table.Td className="mono">{operation}</Table.Td>
                    <Table.Td>{tier}</Table.Td>
                    <Table.Td className="numbers">
                      {used} of {limit}
                      <Progress
                        size="xs"
                        mt={4}
                        value={(100 * used) / limit}
                        color={remaining === 0 && !over ? 'red' : 'pine'}
                        aria-label={`Used of ${operation}`}
                      />
                    </Table.Td>
                    <Table.Td className="numbers">
                      {over ? 'over' : `in ${Math.ceil((resetsAt - now) / 1000)} s`}
                    </Table.Td>
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </section>
  );
}
