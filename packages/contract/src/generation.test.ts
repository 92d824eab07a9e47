import { describe, expect, it } from 'vitest';
import { contract, promptReferences } from './index.ts';
import { ids, refusal } from './test/refusal.ts';

const { body } = contract.generation.generate;
const request = {
  outputType: 'IMAGE',
  outputModel: 'gpt-image-2',
  prompt: 'a red bicycle',
  folder: null,
  attachments: [{ id: ids.file }, { id: ids.generationAttachment }],
};
const prompted = (prompt: string) => refusal(body, { ...request, prompt });

describe('prompt tokens', () => {
  it('may name attachments repeatedly', () => {
    expect(prompted(`<#${ids.file}> beside <#${ids.generationAttachment}>, then <#${ids.file}> again`)).toEqual([]);
    expect(prompted(`<#<#${ids.file}>>`)).toEqual([]);
  });

  it('must name attachments only; each wrong id is reported once', () => {
    const other = `<#${ids.otherFile}>`;
    expect(prompted(`${other} and ${other}`)).toEqual(['/prompt NOT_ATTACHED']);
    expect(refusal(body, { ...request, prompt: `<#${ids.file}>`, attachments: [] })).toEqual(['/prompt NOT_ATTACHED']);
  });

  it.each([
    `<#${ids.folder}>`,
    '<#FX123>',
    `<#${ids.otherFile}0>`,
    `<#${ids.otherFile.toLowerCase()}>`,
    `<# ${ids.otherFile}>`,
    `<${ids.otherFile}>`,
    `#${ids.otherFile}`,
    `<#${ids.otherFile}`,
    '<#>',
    'a <# b > c',
    `<#FX0000000000000000000I>`,
  ])('ignores other text: %s', (text) => {
    expect(promptReferences(text)).toEqual([]);
    expect(prompted(text)).toEqual([]);
  });

  it('are found in any order', () => {
    expect(promptReferences(`<#${ids.generationAttachment}><#${ids.file}>x<#${ids.file}>`)).toEqual([
      ids.generationAttachment,
      ids.file,
    ]);
  });
});

describe('the request', () => {
  it('names no attachment twice', () => {
    const attachments = [{ id: ids.file }, { id: ids.generationAttachment }, { id: ids.file }];
    expect(refusal(body, { ...request, attachments })).toEqual(['/attachments/2/id DUPLICATE']);
  });

  it('takes files and generation attachments only', () => {
    for (const id of [ids.folder, ids.commentAttachment(), 'FX', ids.uuid]) {
      expect(refusal(body, { ...request, attachments: [{ id }] })).toEqual(['/attachments/0/id INVALID_FORMAT']);
    }
  });

  it('says where the file goes, null for the root', () => {
    expect(refusal(body, { ...request, folder: { id: ids.folder } })).toEqual([]);
    expect(refusal(body, { ...request, folder: { id: ids.file } })).toEqual(['/folder/id INVALID_FORMAT']);
    expect(refusal(body, { ...request, folder: {} })).toEqual(['/folder/id REQUIRED']);
  });

  it.each(['outputType', 'outputModel', 'prompt', 'folder', 'attachments'])('requires %s', (field) => {
    expect(refusal(body, { ...request, [field]: undefined })).toEqual([`/${field} REQUIRED`]);
  });

  it('takes no null for configs', () => {
    expect(refusal(body, { ...request, configs: null })).toEqual(['/configs INVALID_TYPE']);
  });
});
