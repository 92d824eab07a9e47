import type { Folder } from '@review/contract';
import { Link } from '@tanstack/react-router';
import classes from './breadcrumb.module.css';
import { pathTo } from './queries.ts';

interface BreadcrumbProps {
  projectId: string;
  folders: readonly Folder[];
  folderId: string | null;
}

/** The path of the current folder, with a link to each ancestor. */
export function Breadcrumb({ projectId, folders, folderId }: BreadcrumbProps) {
  const path = pathTo(folders, folderId);
  return (
    <nav aria-label="Folders" className={classes.path}>
      <Link to="/projects/$projectId" params={{ projectId }} aria-current={path.length === 0 ? 'location' : undefined}>
        All files
      </Link>
      {path.map(({ id, name }, index) => (
        <span key={id}>
          <span aria-hidden="true" className={classes.step}>
            /
          </span>
          <Link
            to="/projects/$projectId"
            params={{ projectId }}
            search={{ folder: id }}
            aria-current={index === path.length - 1 ? 'location' : undefined}
          >
            {name}
          </Link>
        </span>
      ))}
    </nav>
  );
}
