import { z } from 'zod';

/** Fields of many calls of the worker API. Numbers are stored in 32-bit columns. */
export const MAX_INT = 2 ** 31 - 1;
export const Epoch = z.number().int().min(1).max(MAX_INT);
/** The worker cuts longer messages. */
export const Message = z.string().max(4000);

export const WorkerName = z.string().min(1).max(255);
