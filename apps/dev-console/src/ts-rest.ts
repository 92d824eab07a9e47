// Stands in for `@ts-rest/core` in the browser. When it runs, the contract needs no more of it than this, and the
// package would bring a second zod along. Should the contract come to need more, the build fails and names it.
export const ContractNoBody = Symbol('ContractNoBody');

export const initContract = () => ({ otherResponse: <T>(response: T): T => response });
