import { Button, SegmentedControl, Stack } from '@mantine/core';
import { contract, type FileDetails } from '@review/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useLive } from '../../live/use-live.ts';
import { useRefusal } from '../../session/access.ts';
import { oneOf } from '../../shell/search.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ForbiddenHint } from '../../ui/forbidden-hint.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { MoreButton } from '../../ui/more-button.tsx';
import { Page } from '../../ui/page.tsx';
import { kindOf } from '../kind.ts';
import { fileQuery, projectFilesQuery } from '../queries.ts';
import { BothComments } from './both-comments.tsx';
import { comparedFirstQuery } from './earlier.ts';
import { Layered } from './layered.tsx';
import { LAYERINGS } from './layering.ts';
import { type Side, useSide } from './side.ts';
import { SideBySide } from './side-by-side.tsx';
import { SyncedVideos } from './synced-videos.tsx';

const route = getRouteApi('/console/compare');
const MODES = [
  { value: 'side', label: 'Side by side' },
  { value: 'wipe', label: 'Wipe' },
  { value: 'overlay', label: 'Overlay' },
  { value: 'difference', label: 'Difference' },
];

const nowhere = () => {};

/** Compares two files side by side or layered, videos in sync, with the comments on both. */
export function ComparePage() {
  const { left, right } = route.useSearch();
  const refusal = useRefusal();
  const forbidden = refusal(contract.files.get) ?? refusal(contract.files.download);
  const first = useQuery({ ...fileQuery(left ?? ''), enabled: left !== undefined && forbidden === null });
  if (forbidden !== null || left === undefined) {
    return <Page title="Compare">{forbidden === null ? <NothingChosen /> : <ForbiddenHint reason={forbidden} />}</Page>;
  }
  return (
    <Page
      title="Compare"
      wide
      trail={
        first.data && (
          <Link to="/projects/$projectId" params={{ projectId: first.data.project.id }}>
            Files of the project
          </Link>
        )
      }
      actions={right !== undefined && <Modes left={left} right={right} />}
    >
      <Loaded query={first}>
        {(file) =>
          right === undefined ? (
            <FirstCompared file={file} />
          ) : (
            <Pair projectId={file.project.id} left={left} right={right} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Chooses what a file is compared with: its previous version if there is one. */
function FirstCompared({ file }: { file: FileDetails }) {
  const query = useQuery(comparedFirstQuery(file));
  const { mode } = route.useSearch();
  return (
    <Loaded query={query}>
      {(right) => <Navigate to="/compare" search={{ left: file.id, right, mode }} replace />}
    </Loaded>
  );
}

function Pair({ projectId, left, right }: { projectId: string; left: string; right: string }) {
  const { mode } = route.useSearch();
  const navigate = route.useNavigate();
  useLive(projectId);
  const files = useInfiniteQuery(projectFilesQuery(projectId, 'UPLOADED'));
  const offered = files.data ?? [];
  const choose = (change: { left?: string; right?: string }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const sides: readonly [Side, Side] = [
    useSide({ name: 'Left', id: left, other: right, offered, choose: (id) => choose({ left: id }) }),
    useSide({ name: 'Right', id: right, other: left, offered, choose: (id) => choose({ right: id }) }),
  ];
  const kinds = sides.map(({ file }) => (file === undefined ? null : kindOf(file)));
  const isLayered = mode !== undefined && kinds.every((kind) => kind === 'image');
  return (
    <Stack gap="md">
      {kinds.every((kind) => kind === 'video') ? (
        <SyncedVideos sides={sides} mode={mode} />
      ) : (
        <>
          {isLayered ? <Layered sides={sides} mode={mode} /> : <SideBySide sides={sides} />}
          <BothComments sides={sides} at={null} onJump={nowhere} />
        </>
      )}
      <MoreButton query={files}>Offer older files</MoreButton>
    </Stack>
  );
}

const isLayerable = (one: FileDetails, other: FileDetails) =>
  ['image', 'video'].includes(kindOf(one)) && kindOf(one) === kindOf(other);

/** Two images or two videos can be layered. */
function Modes({ left, right }: { left: string; right: string }) {
  const { mode } = route.useSearch();
  const navigate = route.useNavigate();
  const one = useQuery(fileQuery(left)).data;
  const other = useQuery(fileQuery(right)).data;
  if (one === undefined || other === undefined || !isLayerable(one, other)) return null;
  return (
    <SegmentedControl
      aria-label="How to compare"
      size="xs"
      data={MODES}
      value={mode ?? 'side'}
      onChange={(value) =>
        void navigate({
          search: (now) => ({ ...now, mode: oneOf(LAYERINGS, value) }),
          replace: true,
        })
      }
    />
  );
}

const NothingChosen = () => (
  <EmptyState
    icon="image"
    title="Choose two files"
    action={<Button renderRoot={(props) => <Link {...props} to="/projects" />}>To the projects</Button>}
  >
    Tick two files in a project and press Compare. Pictures and videos can be laid over one another; videos play
    together.
  </EmptyState>
);
