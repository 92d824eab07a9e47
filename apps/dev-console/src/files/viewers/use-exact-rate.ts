import type { ExactRate, FileDetails } from '@review/contract';
import { useQuery } from '@tanstack/react-query';

const USUAL: ExactRate = { numerator: 24, denominator: 1 };
const NTSC = 1001;

/** 29.97 is 30000/1001: computed rates are close to the exact ones. */
export function exactRate(rate: number): ExactRate {
  const whole = Math.round(rate);
  if (Math.abs(rate - whole) < 0.005) return { numerator: whole, denominator: 1 };
  const counted = Math.round((rate * NTSC) / 1000);
  if (Math.abs(rate - (counted * 1000) / NTSC) < 0.005) return { numerator: counted * 1000, denominator: NTSC };
  return { numerator: Math.round(rate * 1000), denominator: 1000 };
}

/** The exact rate if the service knows it. Else it is computed from the content by a library that is loaded for it. */
export function useExactRate({ id, media }: FileDetails, url: string): ExactRate {
  const known = media?.frameRate ?? null;
  const computed = useQuery({
    queryKey: ['frame rate', id],
    enabled: known === null,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => exactRate(await (await import('./frame-rate.ts')).frameRateOf(url)),
  });
  return known ?? computed.data ?? USUAL;
}
