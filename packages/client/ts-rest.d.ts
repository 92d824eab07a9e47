// The types of ts-rest that the declarations of the contract name. Those of ts-rest itself need zod 3 and do not compile with
// zod 4, so the package of the client contains these in their place (scripts/package-client.ts).
import type { z } from 'zod';

export declare const ContractNoBody: unique symbol;

export interface ContractOtherResponse<Body extends z.ZodType> {
  contentType: string;
  body: Body;
}

type Response = z.ZodType | typeof ContractNoBody | ContractOtherResponse<z.ZodType>;

interface Common {
  path: string;
  pathParams?: z.ZodType;
  query?: z.ZodType;
  headers?: Record<string, z.ZodType>;
  summary?: string;
  description?: string;
  deprecated?: boolean;
  responses: Record<number, Response>;
  metadata?: unknown;
}

interface Read extends Common {
  method: 'GET';
}

interface Change extends Common {
  method: 'POST' | 'DELETE' | 'PUT' | 'PATCH';
  contentType?: string;
  body: z.ZodType | typeof ContractNoBody;
}

interface Deletion extends Common {
  method: 'DELETE';
}

export type AppRoute = Read | Change | Deletion;
