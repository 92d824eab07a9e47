// Replaces `@ts-rest/core` in the browser bundle. The contract needs only these functions at run time, and the package
// would add a second copy of zod. If the contract imports another function, the build fails and names it.
export const ContractNoBody = Symbol('ContractNoBody');

export const initContract = () => ({ otherResponse: <T>(response: T): T => response });
