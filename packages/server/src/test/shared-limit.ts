import { json, openHouse } from './house.ts';
import { startServer } from './server-process.ts';

/** The number of concurrent calls that two server processes on one Postgres allow together. */
export async function admittedByTwoProcesses(
  calls: number,
  limits: string,
): Promise<{ admitted: number; refused: number }> {
  await using house = await openHouse('postgres');
  const settings = {
    DATABASE_URL: house.databaseUrl,
    RATE_LIMITS: limits,
    LOG_LEVEL: 'info',
    SECRET_KEY: 'the same on both servers, 32 characters',
  };
  const [first, second] = await Promise.all([startServer(settings), startServer(settings)]);
  await using _first = first;
  await using _second = second;
  const path = `/api/projects/${house.projectId}/files/upload.generate`;
  const init = json({});
  const statuses = await Promise.all(
    Array.from({ length: calls }, async (_, call) => {
      const answer = await fetch((call % 2 === 0 ? first : second).url + path, {
        method: 'POST',
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${house.people.owner.key}` },
      });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  const refused = statuses.filter((status) => status === 429).length;
  return { admitted: calls - refused, refused };
}
