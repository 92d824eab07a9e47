declare module 'gltf-validator' {
  export interface ValidationReport {
    issues: { numErrors: number; numWarnings: number; numInfos: number; messages: object[] };
    info: { totalVertexCount: number };
  }
  export function validateBytes(data: Uint8Array): Promise<ValidationReport>;
}
